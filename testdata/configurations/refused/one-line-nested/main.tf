terraform { required_providers { a = "1.0" } }
