# The gateway as an image: docker build -t interlingua .
# COMPILED=0 leaves the adapters plain: seconds of building in place of minutes, half the speed.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
ARG COMPILED=1
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY python /source
RUN python -m venv /opt/interlingua \
    && HATCH_BUILD_HOOK_ENABLE_CUSTOM=${COMPILED} /opt/interlingua/bin/pip install --no-cache-dir '/source[server,cli,aws,otel]'

FROM python:${PYTHON}-slim
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin interlingua
COPY --from=build /opt/interlingua /opt/interlingua
ENV PATH=/opt/interlingua/bin:$PATH PYTHONUNBUFFERED=1
USER 10001
EXPOSE 8080
# over TLS or without; a server that demands certificates of its clients needs another check (--health-cmd)
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
    CMD ["python", "-c", "import ssl, urllib.request as web\ntry:\n    web.urlopen('http://127.0.0.1:8080/healthz', timeout=1)\nexcept OSError:\n    web.urlopen('https://127.0.0.1:8080/healthz', timeout=1, context=ssl._create_unverified_context())"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["interlingua"]
# beyond the container nobody is let in without a key; gRPC, which asks for the same ones, is off unless asked for
CMD ["serve", "--host", "0.0.0.0", "--http-port", "8080", "--no-grpc", "--keys", "/etc/interlingua/keys.json"]
