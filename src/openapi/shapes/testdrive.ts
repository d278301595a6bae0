import { arrayOf, document, fields, id, int, oneOf, optional, text, url } from "#openapi/shape";

/** Of a session with `network=on` alone. */
const webUrl = optional(url("https://kiln.example.org/testdrives/8/Xq3v…/http/"));

export const testdrives = document(
  "Testdrives",
  "testdrives",
  arrayOf("testdrive", fields({ id: id(8), state: oneOf("running", "new"), build_id: id(31), web_url: webUrl })),
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
    web_url: webUrl,
  }),
);
