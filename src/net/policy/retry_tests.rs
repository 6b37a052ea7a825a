use url::Url;

use super::*;

fn failed(fault: Fault) -> NetError {
    NetError::new(&Url::parse("https://a.example/").unwrap(), fault)
}

fn status(status: u16, retry_after: Option<u64>) -> NetError {
    failed(Fault::Status {
        status,
        token_sent: false,
        retry_after: retry_after.map(Duration::from_secs),
        challenge: None,
        words: None,
    })
}

#[test]
fn delays_double_and_end() {
    let mut retry = Retry::new(Duration::from_secs(1), 3);
    for least in [1, 2, 4] {
        let delay = retry.delay(status(503, None)).unwrap();
        let least = Duration::from_secs(least);
        assert!(least <= delay && delay <= 2 * least, "{delay:?}");
    }
    assert_eq!(retry.delay(status(503, None)).unwrap_err().attempts, 4);
}

#[test]
fn what_is_tried_again() {
    let again = |error| Retry::new(Duration::ZERO, 1).delay(error).is_ok();
    for transient in [429, 500, 502, 503, 599] {
        assert!(again(status(transient, None)), "{transient}");
    }
    for lasting in [301, 400, 401, 403, 404, 501] {
        assert!(!again(status(lasting, None)), "{lasting}");
    }
    assert!(again(failed(Fault::Connect("refused".into()))));
    assert!(!again(failed(Fault::Certificate("unknown".into()))));
    assert!(!again(failed(Fault::TooLarge(1))));
    let mut never = Retry::new(Duration::ZERO, 0);
    assert_eq!(never.delay(status(503, None)).unwrap_err().attempts, 1);
}

#[test]
fn the_server_is_heard_within_bounds() {
    let mut retry = Retry::new(Duration::from_secs(1), 5);
    assert_eq!(retry.delay(status(429, Some(7))), Ok(Duration::from_secs(7)));
    assert_eq!(retry.delay(status(429, Some(60))), Ok(MAX_WAIT));
    assert!(matches!(retry.delay(status(503, Some(61))).unwrap_err().fault, Fault::Wait { .. }));
}

#[test]
fn retry_after_texts() {
    let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
    let seconds = |value, date| retry_after(value, date).map(|wait| wait.as_secs());
    assert_eq!(seconds("120", None), Some(120));
    assert_eq!(seconds("99999999999999999999999", None), Some(u64::MAX));
    assert_eq!(seconds("Sun, 06 Nov 1994 08:50:07 GMT", now), Some(30));
    assert_eq!(seconds("Wed, 01 Mar 1995 08:49:37 GMT", now), Some(115 * 86_400));
    assert_eq!(seconds("Sat, 05 Nov 1994 08:49:37 GMT", now), Some(0));
    for nonsense in ["", "soon", "-1", "1.5", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT"] {
        assert_eq!(seconds(nonsense, now), None, "{nonsense:?}");
    }
    assert_eq!(seconds("Sun, 06 Nov 1994 08:50:07 GMT", None), None);
    // The older forms that a client must take.
    assert_eq!(seconds("Sunday, 06-Nov-94 08:50:07 GMT", now), Some(30));
    assert_eq!(seconds("Sun Nov  6 08:50:07 1994", now), Some(30));
}
