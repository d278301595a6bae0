import { arrayOf, document, fields, id, int, oneOf, text, url } from "#openapi/shape";

export const testdrives = document(
  "Testdrives",
  "testdrives",
  arrayOf("testdrive", fields({ id: id(8), state: oneOf("running", "new"), build_id: id(31) })),
);

export const testdrive = document(
  "Testdrive",
  "testdrive",
  fields({
    id: id(8),
    state: oneOf("new"),
    build_id: id(31),
    url: url("https://kiln.example.org/testdrive/8/f0e1…"),
    server: fields({
      vnc: fields({ host: text("kiln.example.org"), port: int(5901), password: text("q7rK2mXa") }),
    }),
  }),
);
