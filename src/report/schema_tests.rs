//! Our documents are what our schema says.

pub(super) use super::schema_check_tests::broken;
use super::schema_check_tests::members;

#[test]
fn what_breaks_the_schema_is_found() {
    let good = r#"{"format_version":"1.0","command":"diff","changed":true,"findings":[]}"#;
    assert_eq!(broken(good), [""; 0]);
    assert_eq!(broken(r#"{"command":"diff"}"#).len(), 1);
    assert_eq!(broken(&good.replace("true", "1")).len(), 1);
    assert_eq!(broken(&good.replace("[]", "[{}]")).len(), 1);
    let unnamed = good.replace("\"changed\"", "\"changd\": 1, \"changed\"");
    assert_eq!(broken(&unnamed), ["/changd: not named"]);
    assert!(members().contains("findings"));
    let change = r#"[{"address":"a","kind":"x","old":null,"new":null,"hashes_added":[],"hashes_removed":[]}]"#;
    let wrong = broken(&good.replace("\"findings\":[]", &format!("\"changes\":{change}")));
    assert!(wrong.len() == 1 && wrong[0].starts_with("/changes/0/kind: enum"), "{wrong:?}");
}
