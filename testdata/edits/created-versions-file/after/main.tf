resource "widget_a" "b" {}
