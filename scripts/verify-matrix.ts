/** Rewrites the matrix of images, and the page that is made from it. Runs of images that have not changed stay. */
import { print } from "./launch/progress.ts";
import { writtenMatrix } from "./verify/matrix/matrix.ts";

const { rows } = writtenMatrix();
print(`docs/verified/matrix.jsonl has ${rows.length} images; docs/verified/matrix.md shows them.`);
