# The image of the manifests in deploy/ and of the Helm chart. From the top of a checkout, with BuildKit:
#   docker build -t windlass:0.2.0 .
# For a smaller image without the learned forecasts of the autoscaler, pass --build-arg EXTRAS=agent.
FROM python:3.12-slim AS build
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM python:3.12-slim
# The slim image lacks the OpenMP library that LightGBM loads.
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
ARG EXTRAS=agent,forecast
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(ls /wheels/windlass-*.whl)${EXTRAS:+[$EXTRAS]}"
# Not the user nobody: with the host's process IDs, that one shares its identity with processes of the node.
USER 10001:10001
ENTRYPOINT ["windlass"]
CMD ["--help"]
