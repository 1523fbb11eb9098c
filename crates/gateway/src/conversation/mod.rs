//! What a request becomes before it is forwarded: identity, checkpoints, folds. No HTTP.
