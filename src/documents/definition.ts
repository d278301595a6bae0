import { effect } from "#documents/software-effect";
import { arrayOf, digest, fields, inside, int, text } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/* The answers about a definition. The definition itself is in lib/definition, because the domain compares it as a document. */

const change = fields({
  name: text("name", "settings/memory_size"),
  item: text("item", "hello").optional(),
  from: text("from", "512").optional(),
  to: text("to", "1024").optional(),
});

export const definitionPlan = document(
  "DefinitionPlan",
  "plan",
  fields({
    changes: inside("changes", arrayOf("change", change)),
    software: inside("software", effect),
  }),
);

export const content = document(
  "Content",
  "content",
  fields({
    sha256: digest("sha256", "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"),
    size: int("size", 1290),
    upload: text("upload", "eyJiIjoiN2I…"),
  }),
);
