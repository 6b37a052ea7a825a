use super::*;

/// The digests of "abc".
const ABC: [&str; 4] = [
    "md5:900150983cd24fb0d6963f7d28e17f72",
    "sha1:a9993e364706816aba3e25717850c26c9cd0d89d",
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
];

#[test]
fn checksums_of_all_kinds_are_enforced() {
    for text in ABC {
        let bare = text.split_once(':').unwrap().1;
        for text in [text.to_owned(), bare.to_owned(), text.to_uppercase()] {
            let checksum = Checksum::parse(&text).unwrap();
            assert_eq!(checksum.to_string(), ABC.iter().find(|it| it.ends_with(&checksum.digits)).unwrap().to_owned());
            let fits = |bytes: &[u8]| {
                let mut sums = ArchiveDigests::new(Some(&checksum));
                sums.update(&bytes[..1]);
                sums.update(&bytes[1..]);
                sums.finish()
            };
            assert_eq!(fits(b"abc"), (ABC[2].strip_prefix("sha256:").unwrap().to_owned(), true), "{text}");
            assert!(!fits(b"abd").1, "{text}");
        }
    }
    assert!(ArchiveDigests::new(None).finish().1);
    for text in ["sha256:ab", "sha256:", "", "é", "sha1:900150983cd24fb0d6963f7d28e17f72", "crc:ab"] {
        assert!(Checksum::parse(text).is_err(), "{text}");
    }
}

#[test]
fn files_of_digests() {
    let [md5, sha1] = [ABC[0], ABC[1]].map(|text| text.split_once(':').unwrap().1);
    let found = |listed: &str| {
        let url = |text: &str| Url::parse(text).unwrap();
        let found = in_file(listed, &url("https://a.example/r/SUMS"), &url("https://a.example/r/1/x.zip?archive=zip"));
        found.map(|checksum| checksum.to_string())
    };
    for (listed, wanted) in [
        (format!("{md5}  y.zip\n{sha1}  x.zip\n"), Some(ABC[1])),
        (format!("# sums\n\n{sha1} *x.zip"), Some(ABC[1])),
        (format!("{md5}  ./1/x.zip"), Some(ABC[0])),
        (format!("{md5}  1/x.zip"), Some(ABC[0])),
        (format!("SHA1 (x.zip) = {sha1}"), Some(ABC[1])),
        (format!("SHA1 (y.zip) = {sha1}"), None),
        (md5.to_owned(), Some(ABC[0])),
        (format!("{md5}  y.zip"), None),
        ("nonsense".to_owned(), None),
    ] {
        assert_eq!(found(&listed).as_deref(), wanted, "{listed}");
    }
}
