#![expect(clippy::disallowed_methods, reason = "tests read what the library must not")]

use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;

use super::{BuiltFrom, GoInfo, Scan, Unknown};
use super::{HEADER, LIMIT, MAGIC};

const LIST: &str = "path\texample.com/p\nmod\texample.com/p\t(devel)\t\ndep\texample.com/a\tv1.2.0\th1:a=\n\
                    dep\texample.com/b\tv1.0.0\n=>\texample.com/c\tv1.0.1\th1:c=\ndep\texample.com/d\tv1.0.0\n\
                    =>\t./d\t(devel)\t\nbuild\tvcs.revision=abc\nbuild\tGOOS=linux\n";

/// A text behind its length.
fn text(bytes: &[u8]) -> Vec<u8> {
    let mut length = bytes.len();
    let mut made = Vec::new();
    while length > 0x7f {
        made.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    made.push(u8::try_from(length).unwrap());
    [made, bytes.to_vec()].concat()
}

/// A list between its marks.
fn marked(list: &str) -> Vec<u8> {
    [b"0123456789abcdef", list.as_bytes(), b"0123456789abcdef"].concat()
}

/// A record of Go 1.18 and later.
fn record(go: &str, list: &str) -> Vec<u8> {
    let mut bytes = [MAGIC, &[8, 2]].concat();
    bytes.resize(HEADER, 0);
    [bytes, text(go.as_bytes()), text(&marked(list))].concat()
}

/// Where the data of [`elf`] begin, in the file and in memory.
const DATA: usize = 0x100;
const ADDRESS: u64 = 0x40_0000;

/// A program with these data, and sections that begin at these offsets in the file.
fn elf(data: &[u8], sections: &[usize]) -> Vec<u8> {
    let table = DATA + data.len();
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    file.resize(16, 0);
    file.extend([2, 0, 62, 0, 1, 0, 0, 0]);
    file.extend([0_u64, 64, table as u64].iter().flat_map(|number| number.to_le_bytes()));
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, u8::try_from(sections.len()).unwrap(), 0, 0, 0]);
    file.extend([1, 0, 0, 0, 6, 0, 0, 0]);
    let size = data.len() as u64;
    file.extend([DATA as u64, ADDRESS, ADDRESS, size, size, 16].iter().flat_map(|number| number.to_le_bytes()));
    file.resize(DATA, 0);
    file.extend(data);
    for at in sections {
        let mut header = [0; 64];
        header[24..32].copy_from_slice(&(*at as u64).to_le_bytes());
        file.extend(header);
    }
    file
}

fn scanned(program: &[u8], size: usize) -> Scan {
    let mut scan = Scan::new();
    program.chunks(size).for_each(|piece| scan.update(piece));
    scan
}

fn in_pieces(program: &[u8], size: usize) -> Result<GoInfo, Unknown> {
    scanned(program, size).finish().remove(0)
}

/// What is read of each program of a file, in whichever way.
fn read_all(file: &[u8]) -> BuiltFrom {
    let in_file = |at: u64, count| {
        let at = usize::try_from(at).ok()?;
        file.get(at..at.checked_add(count)?).map(<[u8]>::to_vec)
    };
    let read = scanned(file, file.len().max(1)).finish_with(in_file);
    for size in [1, 7, 4096, file.len().max(1)] {
        assert_eq!(scanned(file, size).finish_with(in_file), read, "{size}");
        for (streamed, read) in scanned(file, size).finish().iter().zip(&read) {
            assert!(streamed == read || *streamed == Err(Unknown::OldLayout), "{size}: {streamed:?}, not {read:?}");
        }
    }
    read
}

fn read(program: &[u8]) -> Result<GoInfo, Unknown> {
    let mut all = read_all(program);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn a_record_is_read() {
    let info = read(&elf(&record("go1.22.1", LIST), &[])).unwrap();
    assert_eq!((info.go.as_str(), info.text(), info.path()), ("go1.22.1", LIST, Some("example.com/p")));
    let main = info.main().unwrap();
    assert_eq!((main.path.as_str(), main.version.as_str(), main.sum.as_str()), ("example.com/p", "(devel)", ""));
    let built: Vec<(String, String)> =
        info.dependencies().map(|it| (it.built().path.clone(), it.built().version.clone())).collect();
    let expected = [("example.com/a", "v1.2.0"), ("example.com/c", "v1.0.1"), ("./d", "(devel)")];
    assert_eq!(built, expected.map(|(path, version)| (path.to_owned(), version.to_owned())));
    let local: Vec<bool> = info.dependencies().map(|it| it.is_local()).collect();
    assert_eq!(local, [false, false, true]);
    assert_eq!(
        (info.setting("vcs.revision"), info.setting("GOOS"), info.setting("vcs")),
        (Some("abc"), Some("linux"), None)
    );
}

#[test]
fn the_mark_among_data_is_no_record() {
    let (decoy, real) = (record("go1.1", "path\tdecoy\n"), record("go1.22.1", LIST));
    let aligned = decoy.len().next_multiple_of(16);
    let mut data = decoy.clone();
    data.resize(aligned, 0);
    data.extend(&real);
    // A section begins where the real one is.
    assert_eq!(read(&elf(&data, &[0, DATA + aligned])).unwrap().go, "go1.22.1");
    assert_eq!(read(&elf(&data, &[])).unwrap().go, "go1.1");
    // Not aligned, or outside of the data.
    let shifted = [&[0; 3], &real[..]].concat();
    assert_eq!(read(&elf(&shifted, &[])), Err(Unknown::NoRecord));
    let beside = [elf(&[0; 64], &[]), vec![0; 64], real].concat();
    assert_eq!(read(&beside), Err(Unknown::NoRecord));
}

/// A record of Go 1.13 to 1.17, followed by what it refers to.
fn old(go: &str, list: &[u8]) -> Vec<u8> {
    let at = |offset: usize| (ADDRESS + offset as u64).to_le_bytes();
    let (headers, texts) = (HEADER, HEADER + 32);
    let mut data = [MAGIC, &[8, 0], &at(headers), &at(headers + 16)].concat();
    data.extend([at(texts), (go.len() as u64).to_le_bytes()].concat());
    data.extend([at(texts + go.len()), (list.len() as u64).to_le_bytes()].concat());
    data.extend(go.as_bytes());
    data.extend(list);
    data
}

#[test]
fn addresses_are_followed_where_the_program_can_be_read() {
    let program = elf(&old("go1.15", &marked(LIST)), &[]);
    let info = read(&program).unwrap();
    assert_eq!((info.go.as_str(), info.text()), ("go1.15", LIST));
    assert_eq!(in_pieces(&program, 100), Err(Unknown::OldLayout));
    // Without its marks the list is none.
    assert_eq!(read(&elf(&old("go1.15", LIST.as_bytes()), &[])).unwrap().text(), "");
    let with = |at: usize, number: u64| {
        let mut data = old("go1.15", &marked(LIST));
        data[at..at + 8].copy_from_slice(&number.to_le_bytes());
        read(&elf(&data, &[]))
    };
    for outside in [0, u64::MAX, ADDRESS - 1, ADDRESS + 10_000] {
        assert!(matches!(with(16, outside), Err(Unknown::Damaged(_))), "{outside}");
        assert!(matches!(with(HEADER, outside), Err(Unknown::Damaged(_))), "{outside}");
    }
    assert_eq!(with(24, 0).unwrap().text(), "");
    assert_eq!(with(HEADER + 8, 100 << 20), Err(Unknown::TooLarge));
    assert_eq!(with(HEADER + 8, u64::MAX), Err(Unknown::TooLarge));
}

/// Go 1.13 left the list of a program without modules where memory is zero and the file has no bytes.
#[test]
fn memory_after_the_bytes_of_a_segment_is_zero() {
    let mut data = [old("go1.13.4", b""), vec![0; 8]].concat();
    let end = data.len() as u64;
    data[24..32].copy_from_slice(&(ADDRESS + end + 100).to_le_bytes());
    let mut program = elf(&data, &[]);
    let memory = |program: &mut Vec<u8>, size: u64| program[104..112].copy_from_slice(&size.to_le_bytes());
    for size in [end + 116, end + 100_000, u64::MAX] {
        memory(&mut program, size);
        let info = read(&program).unwrap();
        assert_eq!((info.go.as_str(), info.text()), ("go1.13.4", ""), "{size}");
    }
    // Half of the address of the text is in the file.
    data[24..32].copy_from_slice(&(ADDRESS + end - 8).to_le_bytes());
    let mut program = elf(&data, &[]);
    memory(&mut program, end + 100);
    assert_eq!(read(&program).unwrap().text(), "");
    // The memory ends before.
    for size in [end, end + 7] {
        memory(&mut program, size);
        assert!(matches!(read(&program), Err(Unknown::Damaged(_))), "{size}");
    }
}

/// As `debug/buildinfo` reads them.
#[test]
fn the_last_main_module_counts() {
    let list = "mod\texample.com/a\tv1.0.0\n=>\texample.com/x\tv0.1.0\nmod\texample.com/b\tv2.0.0\n\
                dep\texample.com/d\tv1.0.0\n=>\texample.com/r\tv1.1.0\n";
    let info = read(&elf(&record("go1.22", list), &[])).unwrap();
    let main = info.main().unwrap();
    assert_eq!((main.path.as_str(), main.version.as_str(), main.replace), ("example.com/b", "v2.0.0", None));
    let info = read(&elf(&record("go1.22", &format!("{list}mod\texample.com/c\tv3.0.0\n=>\t./c\t\n")), &[])).unwrap();
    assert!(info.main().is_some_and(|main| main.path == "example.com/c" && main.is_local()));
    assert_eq!(info.dependencies().count(), 1);
}

#[test]
#[ignore = "long"]
fn bad_input_is_unknown() {
    assert_eq!(read(b""), Err(Unknown::NotAProgram));
    assert_eq!(read(b"#!/bin/sh\necho hello\n"), Err(Unknown::NotAProgram));
    assert_eq!(read(&elf(&[0; 256], &[])), Err(Unknown::NoRecord));
    let program = elf(&record("go1.22.1", LIST), &[]);
    assert_eq!(read(&program[..DATA + 60]), Err(Unknown::Truncated));
    assert_eq!(read(&program[..DATA - 1]), Err(Unknown::Truncated));
    assert!(matches!(read(&program[..80]), Err(Unknown::Damaged(_))));
    let mut packed = elf(&[0; 256], &[]);
    packed[0xf0..0xf4].copy_from_slice(b"UPX!");
    assert_eq!(read(&packed), Err(Unknown::Packed));
    // A length that the file does not have, and lengths without end.
    let lengths: [(&[u8], Unknown); 4] = [
        (&[0xff, 0x3f], Unknown::Truncated),
        (&[0xff, 0xff, 0x7f], Unknown::TooLarge),
        (&[0x80; 32], Unknown::TooLarge),
        (&[0xff; 32], Unknown::TooLarge),
    ];
    for (length, unknown) in lengths {
        let data = [&record("", "")[..HEADER], length].concat();
        assert_eq!(read(&elf(&data, &[])), Err(unknown), "{length:?}");
    }
    for list in
        ["dep\texample.com/a\n", "dep\t\tv1.0.0\n", "dep\ta\tv1\ts\tx\n", "=>\ta\tv1.0.0\n", "mod\ta\tv\u{1b}[1m\n"]
    {
        assert!(matches!(read(&elf(&record("go1.22", list), &[])), Err(Unknown::Damaged(_))), "{list:?}");
    }
    assert!(matches!(read(&elf(&record("", LIST), &[])), Err(Unknown::Damaged(_))));
    let long = format!("path\tp\n{}", "dep\texample.com/a\tv1.0.0\n".repeat(LIMIT / 20));
    assert_eq!(read(&elf(&record("go1.22", &long), &[])), Err(Unknown::TooLarge));
    assert_eq!(read(&elf(&record("go1.22.1", ""), &[])).unwrap().text(), "");
}

/// A universal binary of these programs, which begin at these places.
fn universal(programs: &[(u32, &[u8])], is_wide: bool) -> Vec<u8> {
    let count = u32::try_from(programs.len()).unwrap();
    let mut file = [[0xca, 0xfe, 0xba, if is_wide { 0xbf } else { 0xbe }], count.to_be_bytes()].concat();
    for (at, program) in programs {
        let size = u32::try_from(program.len()).unwrap();
        file.extend([1, 0, 0, 12, 0, 0, 0, 0]);
        for number in [*at, size] {
            file.extend(if is_wide { u64::from(number).to_be_bytes().to_vec() } else { number.to_be_bytes().to_vec() });
        }
        file.extend(&[0; 8][..if is_wide { 8 } else { 4 }]);
    }
    for (at, program) in programs {
        let at = usize::try_from(*at).unwrap();
        file.resize(file.len().max(at + program.len()), 0);
        file[at..at + program.len()].copy_from_slice(program);
    }
    file
}

#[test]
fn each_program_of_a_universal_binary_is_read() {
    let [one, other] = ["go1.22.1", "go1.21.9"].map(|go| elf(&record(go, LIST), &[DATA]));
    let old = elf(&old("go1.15", &marked(LIST)), &[]);
    let go = |file: &[u8]| -> Vec<String> {
        read_all(file).into_iter().map(|info| info.map_or_else(|unknown| unknown.to_string(), |info| info.go)).collect()
    };
    for is_wide in [false, true] {
        for at in [200, 4096, 100_000] {
            assert_eq!(go(&universal(&[(at, &one)], is_wide)), ["go1.22.1"], "{at}");
            let pair = universal(&[(at, &one), (at + 8192, &other)], is_wide);
            assert_eq!(go(&pair), ["go1.22.1", "go1.21.9"], "{at}");
            let reversed = universal(&[(at + 8192, &old), (at, &other)], is_wide);
            assert_eq!(go(&reversed), ["go1.15", "go1.21.9"], "{at}");
        }
    }
    let same = universal(&[(512, &one), (512, &one)], false);
    assert_eq!(go(&same), ["go1.22.1", "go1.22.1"]);
    // None of these is taken for a text.
    let text = b"no program".as_slice();
    assert!(matches!(read_all(&universal(&[(512, &one), (8192, text)], false))[1], Err(Unknown::Damaged(_))));
    let far = |at| universal(&[(512, &one), (at, &[])], false);
    assert_eq!(read_all(&far(8192))[1], Err(Unknown::Truncated));
    for inside in [0, 8, 47] {
        let mut file = far(8192);
        file[36..40].copy_from_slice(&u32::to_be_bytes(inside));
        assert!(matches!(read(&file), Err(Unknown::Damaged(_))), "{inside}");
    }
    for count in [0, 5, u32::MAX] {
        let mut file = far(8192);
        file[4..8].copy_from_slice(&count.to_be_bytes());
        assert!(matches!(read(&file), Err(Unknown::Damaged(_))), "{count}");
    }
    assert_eq!(read(&far(8192)[..20]), Err(Unknown::Truncated));
    // It would hold itself.
    let nested = universal(&[(512, &far(8192))], false);
    assert!(matches!(read(&nested), Err(Unknown::Damaged(_))));
}

/// What the fuzzer begins with: a program of each kind that holds the same record.
#[test]
fn each_kind_of_program_is_read() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|top| top.join("tests/fuzz").is_dir()).unwrap();
    for kind in ["elf", "macho", "pe", "universal"] {
        let info = read(&std::fs::read(top.join("tests/fuzz/corpus/program").join(kind)).unwrap()).unwrap();
        assert_eq!((info.go.as_str(), info.setting("vcs.revision")), ("go1.22.1", Some("abc")), "{kind}");
    }
}

proptest! {
    #[test]
    fn damage_never_panics(at in 0_usize..700, byte: u8, cut in 0_usize..700) {
        for data in [record("go1.22.1", LIST), old("go1.15", &marked(LIST))] {
            let mut program = elf(&data, &[DATA]);
            let (at, cut) = (at % program.len(), cut % program.len());
            program[at] = byte;
            let _ = read_all(&program);
            let _ = read_all(&program[..cut]);
        }
    }
}

/// Real programs: a folder of them, and `go` next to it.
#[test]
fn real_programs_say_what_go_reads_in_them() {
    let Some(folder) = std::env::var_os("TFLOCK_GO_PROGRAMS").map(PathBuf::from) else {
        return eprint_skipped("TFLOCK_GO_PROGRAMS names no folder of Go programs");
    };
    let (mut folders, mut compared) = (vec![folder], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if let Some(expected) = go_version(&entry) {
                let bytes = std::fs::read(&entry).unwrap();
                // `go version` reads the first program of a universal binary.
                let read =
                    read_all(&bytes).remove(0).unwrap_or_else(|unknown| panic!("{}: {unknown}", entry.display()));
                assert_eq!(
                    format!("{}\n{}", read.go, read.text()).trim_end(),
                    expected.trim_end(),
                    "{}",
                    entry.display()
                );
                let streamed = in_pieces(&bytes, 100_003);
                assert!(streamed.as_ref() == Ok(&read) || streamed == Err(Unknown::OldLayout), "{}", entry.display());
                compared += 1;
            }
        }
    }
    assert!(compared > 0, "there is no Go program");
}

/// What `go version -m` prints of a program; none if it is not a Go program.
fn go_version(program: &Path) -> Option<String> {
    let go = std::env::var_os("GO").unwrap_or_else(|| "go".into());
    let run = Command::new(go).args(["version", "-m"]).arg(program).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    let (first, list) = text.split_once('\n')?;
    let list: Vec<&str> = list.lines().map(|line| line.trim_start_matches('\t')).collect();
    // The first line names the file before the version.
    Some(format!("{}\n{}", first.rsplit_once(": ")?.1, list.join("\n")))
}

fn eprint_skipped(why: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("skipped: {why}\n").as_bytes());
}
