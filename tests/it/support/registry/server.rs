//! The server: two listeners on loopback, TLS, HTTP/1.1, in a thread and runtime of their own.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use http_body_util::BodyExt as _;
use hyper::Method;
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, USER_AGENT};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::body::Pieces;
use super::routes::{self, Manner};
use super::tls;
use super::world::{Document, Request, World};

/// A running server; it stops when dropped.
#[derive(Debug)]
pub struct Server {
    /// The ports: of the registry, and of the same site as the other host.
    pub ports: [u16; 2],
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(world: &Arc<Mutex<World>>) -> Self {
        let listeners = [listen(), listen()];
        let ports = listeners.each_ref().map(|listener| listener.local_addr().unwrap().port());
        let (stop, stopped) = oneshot::channel();
        let world = Arc::clone(world);
        let thread = std::thread::spawn(move || serve(listeners, world, stopped));
        Self { ports, stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server does not panic");
        }
    }
}

fn listen() -> StdListener {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

fn serve(listeners: [StdListener; 2], world: Arc<Mutex<World>>, stopped: oneshot::Receiver<Infallible>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        let [first, second] = listeners.map(|listener| TcpListener::from_std(listener).unwrap());
        let acceptor = tls::acceptor();
        tokio::select! {
            () = accept(first, &acceptor, &world) => {}
            () = accept(second, &acceptor, &world) => {}
            _ = stopped => {}
        }
    });
}

async fn accept(listener: TcpListener, acceptor: &TlsAcceptor, world: &Arc<Mutex<World>>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let (acceptor, world) = (acceptor.clone(), Arc::clone(world));
        tokio::spawn(async move {
            // A client that leaves, or does not trust us, is its own affair: the test looks at what the client says.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = service_fn(|request: hyper::Request<Incoming>| {
                let world = &world;
                async move {
                    let (head, body) = request.into_parts();
                    let brings = head.method == Method::PUT;
                    let file =
                        if brings { body.collect().await.map_err(io::Error::other)?.to_bytes() } else { Bytes::new() };
                    handle(world, &head, &file)
                }
            });
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn handle(world: &Mutex<World>, request: &Parts, file: &[u8]) -> io::Result<hyper::Response<Pieces>> {
    let header = |name: HeaderName| Some(request.headers.get(name)?.to_str().ok()?.to_owned());
    // A document may be one of several at its path.
    let whole = request.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let is_document = world.lock().unwrap().documents.contains_key(&whole);
    let path = if is_document { whole } else { request.uri.path().to_owned() };
    let place = routes::place(&path);
    let seen = Request {
        endpoint: place.endpoint,
        method: request.method.to_string(),
        host: header(HOST).unwrap_or_default(),
        provider: place.provider,
        authorization: header(AUTHORIZATION),
        user_agent: header(USER_AGENT),
        path: path.clone(),
    };
    let (reply, endless, waiting) = {
        let mut world = world.lock().unwrap();
        let reply = routes::answer(&mut world, &seen);
        if seen.method == "PUT" && reply.status == 201 {
            let document = Document { content_type: "text/plain".to_owned(), body: file.to_owned() };
            world.documents.insert(path.clone(), document);
        }
        world.requests.push(seen);
        (reply, Arc::clone(&world.endless), Arc::clone(&world.waiting))
    };
    let body = match reply.manner {
        Manner::Plainly => Pieces::whole(&reply.body),
        Manner::Half => Pieces::first_half(&reply.body),
        Manner::Slowly(pause) => Pieces::slow(&reply.body, pause),
        Manner::Together(count) => Pieces::together(&reply.body, waiting, count),
        Manner::Endlessly { .. } => Pieces::endless(endless),
        Manner::NotAtAll => return Err(io::Error::other("reset on purpose")),
    };
    let mut response = hyper::Response::builder().status(reply.status);
    let length = match reply.manner {
        Manner::Endlessly { announced } => announced,
        _ => u64::try_from(reply.body.len()).ok().filter(|_| reply.status != 204),
    };
    if let Some(length) = length {
        response = response.header(CONTENT_LENGTH, length);
    }
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    response.body(body).map_err(io::Error::other)
}
