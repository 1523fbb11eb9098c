//! Cache marks on a request.
