# The image of the manifests in deploy/ and of the Helm chart. From the top of a checkout:
#   docker build -t windlass:0.2.0 .
# For a smaller image without the learned forecasts of the autoscaler, pass --build-arg EXTRAS=agent.
FROM python:3.12-slim AS build
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM python:3.12-slim
ARG EXTRAS=agent,forecast
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(ls /wheels/windlass-*.whl)[$EXTRAS]"
USER 65534:65534
ENTRYPOINT ["windlass"]
CMD ["--help"]
