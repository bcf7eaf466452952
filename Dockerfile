# Builds Stoa from these sources. `packaging/docker/Dockerfile` takes a binary that is there already.
#
#   docker build -t stoa .
#   docker run --rm -i stoa mcp
#   docker run --rm -p 127.0.0.1:8080:8080 -v stoa:/data -e MCP_HTTP_TOKEN=… stoa
FROM rust:1.95-slim-trixie AS build
WORKDIR /source
COPY . .
ARG BUILD_COMMIT
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --locked --profile dist -p server && cp target/dist/stoa /stoa

FROM debian:trixie-slim
# The archive reads scanned pages with these.
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates fonts-urw-base35 poppler-utils tesseract-ocr tesseract-ocr-rus \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 65532 --user-group --home-dir /data --no-create-home stoa \
 && install -d -m 0700 -o stoa -g stoa /data
COPY --from=build /stoa /usr/bin/stoa
ENV STOA_DATA=/data STOA_LISTEN=0.0.0.0:8080
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/usr/bin/stoa"]
CMD ["serve"]
