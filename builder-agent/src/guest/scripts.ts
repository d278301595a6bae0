import { fileURLToPath } from "node:url";

/** A script that runs inside the guest. */
export const guestScript = (name: "init.sh" | "builder.sh" | "kiwi.sh") =>
  fileURLToPath(new URL(`../../guest/${name}`, import.meta.url));
