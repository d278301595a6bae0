;; Proves that a WASM module imported by the Worker works embedded, in tests and in a deployment, before libsolv arrives.
(module (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1))))
