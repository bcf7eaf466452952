//! TLS by the system's root certificates, which are read from the disk at the first handshake of the
//! process and kept for all clients: reading and parsing 140 of them takes about 10 ms.

use std::sync::{Arc, LazyLock, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

/// The protocols that a handshake offers, the preferred one first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The TLS settings of a client. Fails only if ring has no protocol version in common with `rustls`.
pub(crate) fn tls_config() -> Result<ClientConfig, Error> {
    static SHARED: LazyLock<Arc<SystemRoots>> = LazyLock::new(Arc::default);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&SHARED.provider));
    let mut config = builder
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&SHARED) as _)
        .with_no_client_auth();
    config.alpn_protocols = ALPN.map(<[u8]>::to_vec).into();
    Ok(config)
}

/// The platform's verifier, made at the first handshake. It decides about every certificate.
#[derive(Debug)]
struct SystemRoots {
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Result<Verifier, Error>>,
}

impl Default for SystemRoots {
    fn default() -> Self {
        Self { provider: Arc::new(ring::default_provider()), verifier: OnceLock::new() }
    }
}

impl SystemRoots {
    fn verifier(&self) -> Result<&Verifier, Error> {
        let made = self.verifier.get_or_init(|| Verifier::new(Arc::clone(&self.provider)));
        made.as_ref().map_err(Clone::clone)
    }
}

impl ServerCertVerifier for SystemRoots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = self.verifier()?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier()?.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate of example.org that it issued itself, valid until 2126.
    const UNKNOWN_ISSUER: &str = "\
        MIIBmzCCAUGgAwIBAgIUQd7ARiumXY+wchgAqKwTAQ6hM3UwCgYIKoZIzj0EAwIwFjEUMBIGA1UEAwwL\
        ZXhhbXBsZS5vcmcwIBcNMjYxMTE4MjAxNTMzWhgPMjEyNjEwMjUyMDE1MzNaMBYxFDASBgNVBAMMC2V4\
        YW1wbGUub3JnMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAESO+LkPj//INoi3CVGceFMDQpGyYUXvF2\
        ncJ42rkJrgs2ISfQF2a1M1rlq1eIU6FWx3yfQESn64Szh1eztF8FCaNrMGkwHQYDVR0OBBYEFHT/1d/4\
        Zxy2HVeWTcGsnf/J3ocsMB8GA1UdIwQYMBaAFHT/1d/4Zxy2HVeWTcGsnf/J3ocsMA8GA1UdEwEB/wQF\
        MAMBAf8wFgYDVR0RBA8wDYILZXhhbXBsZS5vcmcwCgYIKoZIzj0EAwIDSAAwRQIgaNAlumf0/qhuzdiM\
        uN3p8R4lma+poKAH2nNiDILs1RcCIQC8B2u3FwUAIabTgrsT28W7SjGD68FVQU6YMvsmpxeJbQ==";

    #[test]
    fn a_certificate_of_an_unknown_issuer_is_refused() {
        let der = data_encoding::BASE64.decode(UNKNOWN_ISSUER.as_bytes()).unwrap();
        let name = ServerName::try_from("example.org").unwrap();
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(1_800_000_000));
        let roots = SystemRoots::default();
        let verified = roots.verify_server_cert(&der.into(), &[], &name, &[], now);
        assert!(verified.is_err(), "{verified:?}");
        assert!(roots.verifier.get().is_some());
    }

    #[test]
    fn the_certificates_are_not_read_before_a_handshake() {
        let roots = SystemRoots::default();
        assert!(!roots.supported_verify_schemes().is_empty());
        assert!(roots.verifier.get().is_none());
    }

    #[test]
    fn clients_offer_both_versions_of_http() {
        assert_eq!(tls_config().unwrap().alpn_protocols, ALPN);
    }
}
