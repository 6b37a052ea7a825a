//! The two HTTP clients below [`super::Client`].

use reqwest::Certificate;
use reqwest::redirect::Policy;

use super::options::ClientOptions;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Small documents: compressed, many over one connection where the server can.
    Documents,
    /// Archives from servers that may speak HTTP/2, where all would share one connection and its window.
    Downloads,
}

/// Builds a client; redirects are not followed by it.
pub(super) fn build(options: &ClientOptions, purpose: Purpose) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if someone else has installed a provider before, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    if let Some(pem) = &options.roots_pem {
        return base(options, purpose).tls_certs_only(Certificate::from_pem_bundle(pem)?).build();
    }
    match base(options, purpose).build() {
        Ok(client) => Ok(client),
        // A machine without roots, such as an empty container. Any other fault comes up again.
        Err(_) => base(options, purpose).tls_certs_only(bundled_roots()).build(),
    }
}

fn base(options: &ClientOptions, purpose: Purpose) -> reqwest::ClientBuilder {
    let client = reqwest::Client::builder()
        .user_agent(&options.user_agent)
        .redirect(Policy::none())
        .connect_timeout(options.connect_timeout);
    let client = if options.system_proxy { client } else { client.no_proxy() };
    match purpose {
        Purpose::Documents => client,
        Purpose::Downloads => client.no_gzip().http1_only(),
    }
}

fn bundled_roots() -> impl Iterator<Item = Certificate> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|root| Certificate::from_der(root).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_roots_make_a_client_even_if_there_are_none() {
        for roots_pem in [b"".as_slice(), b"junk"] {
            let options = ClientOptions { roots_pem: Some(roots_pem.to_vec()), ..ClientOptions::default() };
            assert!(build(&options, Purpose::Documents).is_ok());
        }
    }

    #[test]
    fn bundled_roots_make_a_client() {
        assert!(bundled_roots().count() > 50);
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = base(&ClientOptions::default(), Purpose::Documents).tls_certs_only(bundled_roots()).build();
        assert!(client.is_ok());
    }
}
