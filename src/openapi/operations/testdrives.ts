import { TestdriveRequest } from "#api/testdrives";
import { modifiedFiles } from "#openapi/operations/modified-files";
import { both, v2, xml, type Group } from "#openapi/operation";
import { testdrive, testdrives as testdrivesDocument } from "#openapi/shapes/testdrive";

export const testdrives: Group = {
  title: "Testdrives",
  about: "A build booted for a while. A session without a client for 60 seconds ends.",
  operations: [
    {
      name: "listTestdrives",
      method: "GET",
      path: "/testdrives",
      versions: v2,
      summary: "Your running sessions",
      answer: xml(testdrivesDocument),
    },
    {
      name: "startTestdrive",
      method: "POST",
      path: "/testdrives",
      versions: both,
      summary: "Boot a build: a page for the browser, and an address for VNC clients",
      details:
        "Where no builder agent has an address of its own, the host is the service's and the port 0; the page works all the same. " +
        "With network=on the machine has a network card, and its web server is at web_url; it reaches nothing.",
      params: TestdriveRequest,
      answer: xml(testdrive),
      refusals: ["missing_parameter", "invalid_build_id", "invalid_value", "build_not_found", "no_build_slots"],
    },
    ...modifiedFiles,
  ],
};
