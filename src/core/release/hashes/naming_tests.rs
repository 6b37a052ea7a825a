//! Names of packages.

use super::*;
use crate::dialect::Dialect;

#[test]
fn names_bind() {
    let addr = ProviderAddr::parse("acme/widget", Dialect::Terraform).unwrap();
    let platform = "linux_amd64".parse().unwrap();
    let rule = |name: &str| unusual_name(&addr, &Version::new(1, 0, 0), &platform, name).map(|finding| finding.rule);
    assert_eq!(rule("terraform-provider-widget_1.0.0_linux_amd64.zip"), None);
    assert_eq!(rule("terraform-provider-widget_0.9.0_linux_amd64.zip"), Some(Rule::UnboundSignature));
    assert_eq!(rule("terraform-provider-other_1.0.0_linux_amd64.zip"), Some(Rule::UnboundSignature));
    assert_eq!(rule("terraform-provider-widget_1.0.0_darwin_amd64.zip"), Some(Rule::UnboundSignature));
    assert_eq!(rule("widget-linux.zip"), Some(Rule::UnusualPackageName));
}
