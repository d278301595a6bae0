/** The stand-in for wrangler as a program, for KILN_WRANGLER. */
import { runStandIn } from "./wrangler.ts";

const { code, stdout, stderr } = await runStandIn(process.argv.slice(2), process.env);
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code;
