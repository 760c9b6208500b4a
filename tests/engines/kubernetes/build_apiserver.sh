#!/usr/bin/env bash
# Builds the kube-apiserver of Debian 12's source package, and puts it beside Debian's etcd into a folder.
#
#   tests/engines/kubernetes/build_apiserver.sh [FOLDER]
#
# FOLDER is ~/.cache/windlass/apiserver unless named. It needs Debian's apt and keys, and no root: packages are taken
# apart in a folder for a while, and nothing is installed. It takes three minutes of two cores, or eleven of one that is
# busy, and 3 GB for as long as that, and leaves 130 MB. Where both files are there it does nothing.
set -euo pipefail
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/windlass/apiserver}
keys=/usr/share/keyrings/debian-archive-keyring.gpg

if [ -x "$folder/kube-apiserver" ] && [ -x "$folder/etcd" ]; then
  exit 0
fi
for tool in apt-get dpkg-deb tar; do
  command -v "$tool" >/dev/null || { echo "$0: needs $tool" >&2; exit 1; }
done
# Where this machine has its packages from, if nobody says otherwise.
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | head -n 1)}
[ -r "$keys" ] || { echo "$0: needs Debian's keys, $keys" >&2; exit 1; }

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d "$folder/build.XXXXXX")
# Go makes what it caches unwritable.
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"

# Lists of our own: those of this machine may name no sources, and are not ours to change.
mkdir -p lists/partial cache/archives/partial parts
for kind in deb deb-src; do echo "$kind [signed-by=$keys] $mirror bookworm main"; done >sources.list
apt=(apt-get -q -o "Dir::Etc::sourcelist=$work/sources.list" -o "Dir::Etc::sourceparts=$work/parts"
  -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=$(id -un)")
"${apt[@]}" update
"${apt[@]}" source --download-only kubernetes
"${apt[@]}" download golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev etcd-server
for package in *.deb; do dpkg-deb -x "$package" root; done
mkdir source
tar xzf kubernetes_*.orig.tar.gz -C source --strip-components=1

# The reflect2 that comes with it reads what Go has since hidden.
reflect=vendor/github.com/modern-go/reflect2
rm -rf "source/$reflect"
cp -r root/usr/share/gocode/src/github.com/modern-go/reflect2 "source/$reflect"

export GOROOT=$work/root/usr/lib/go-1.19 GOCACHE=$work/go-cache GOPATH=$work/go HOME=$work
export PATH=$GOROOT/bin:$PATH CGO_ENABLED=0 GO111MODULE=off GOFLAGS=-trimpath
mkdir -p go/src/k8s.io
ln -s "$work/source" go/src/k8s.io/kubernetes
cd go/src/k8s.io/kubernetes

# Of all that its makefiles generate, this alone does not come with the source.
go build -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
packages=$(grep -rl --include='*.go' '+k8s:openapi-gen=' pkg cmd staging/src/k8s.io | xargs -n1 dirname | sort -u |
  grep -vE 'sample-apiserver|code-generator|testdata|/test' | sed 's,^staging/src/,vendor/,; s,^,k8s.io/kubernetes/,')
"$work/openapi-gen" --logtostderr -i "$(echo "$packages" | paste -sd,)" -O zz_generated.openapi \
  -p k8s.io/kubernetes/pkg/generated/openapi -h hack/boilerplate/boilerplate.generatego.txt -r "$work/violations"

go build -o "$work/kube-apiserver" \
  -ldflags '-s -w -X k8s.io/component-base/version.gitVersion=v1.20.2' ./cmd/kube-apiserver
mv "$work/root/usr/bin/etcd" "$work/kube-apiserver" "$folder"
