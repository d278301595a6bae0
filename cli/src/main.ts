#!/usr/bin/env node
import { run } from "./program.ts";

// `kiln … | head` closes the pipe. The command still does its work, and its exit code shows the result.
for (const output of [process.stdout, process.stderr])
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

process.exitCode = await run(process.argv.slice(2));
