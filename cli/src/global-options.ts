import { flag, value } from "./command.ts";

/** What every command takes. */
export const globalOptions = {
  json: flag("print the service's answer as JSON"),
  url: value("address", "the service to use; otherwise KILN_URL, or that of the last `kiln login`"),
};
