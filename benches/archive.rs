//! How fast an archive of the usual size is hashed: about 50 MB of machine code, compressed.
//!
//! `cargo bench --bench archive`. What to compare with: one thread needs inflate and both digests, two threads need no
//! longer than inflate alone.

#![expect(clippy::disallowed_methods, reason = "reads itself, for lack of another program that is everywhere")]
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::io::{Cursor, Write as _};
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::BytesCount;
use tflock_core::hash::Sha256Digest;
use tflock_core::hash::archive::{ArchiveHasher, Limits, Threads};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Bytes as they come from a file or a connection.
const PIECE: usize = 64 << 10;

const UNPACKED: usize = 150 << 20;

static CODE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    program.into_iter().cycle().take(UNPACKED).collect()
});

static ARCHIVE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, content) in [("LICENSE.txt", &CODE[..15_000]), ("terraform-provider-big_v1.0.0_x5", &CODE[..])] {
        writer.start_file(name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
});

fn main() {
    println!("{} bytes unpacked, {} packed", CODE.len(), ARCHIVE.len());
    divan::main();
}

fn streamed(bencher: Bencher<'_, '_>, threads: Threads) {
    bencher.counter(BytesCount::of_slice(&ARCHIVE[..])).bench(|| {
        let mut hasher = ArchiveHasher::on(threads, Limits::default());
        for piece in ARCHIVE.chunks(PIECE) {
            hasher.update(piece).unwrap();
        }
        hasher.finish().unwrap()
    });
}

#[divan::bench(sample_count = 10)]
fn one_thread(bencher: Bencher<'_, '_>) {
    streamed(bencher, Threads::One);
}

#[divan::bench(sample_count = 10)]
fn two_threads(bencher: Bencher<'_, '_>) {
    streamed(bencher, Threads::Two);
}

/// What no way of hashing can do without.
#[divan::bench(sample_count = 10)]
fn digests_alone(bencher: Bencher<'_, '_>) {
    bencher.counter(BytesCount::of_slice(&ARCHIVE[..])).bench(|| (Sha256Digest::of(&ARCHIVE), Sha256Digest::of(&CODE)));
}
