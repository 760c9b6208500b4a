"""The part of jobs over many sites: slots, links, tasks that read before they compute."""
