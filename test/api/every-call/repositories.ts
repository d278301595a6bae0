import { signedIn } from "../../support/client.ts";
import { rpmOf } from "../../support/packages.ts";
import { refused, type Row } from "./row.ts";
import { madeId, mirrorUrl, type Sample } from "./sample.ts";

const oneMore = async ({ tux, ids }: Sample): Promise<Sample> => ({
  tux,
  ids: { ...ids, rpm: await madeId(tux, "POST", "/rpms?base_system=tiny-1.0", { file: rpmOf("one-more") }) },
});
const noFile = { sent: { text: "" } };
const noPackage = { sent: { file: "no package at all" } };

export const repositories: readonly Row[] = [
  {
    call: "GET /rpms",
    path: "/rpms?base_system=tiny-1.0",
    answer: "rpms",
    refused: [
      refused("/rpms", "missing_parameter"),
      refused("/rpms?base_system=", "missing_parameter"),
      refused("/rpms?base_system=cake", "invalid_base_system"),
    ],
  },
  {
    call: "POST /rpms",
    path: "/rpms?base_system=tiny-1.0",
    sent: { file: rpmOf("counter-too") },
    answer: "rpm",
    refused: [
      refused("/rpms", "missing_parameter"),
      refused("/rpms?base_system=cake", "invalid_base_system"),
      refused("/rpms?base_system=tiny-1.0", "missing_parameter", noFile),
      refused("/rpms?base_system=tiny-1.0", "invalid_file", noPackage),
    ],
  },
  { call: "GET /rpms/{rpm_id}", path: "/rpms/{rpm}", answer: "rpm", foreign: "invalid_rpm_id" },
  {
    call: "PUT /rpms/{rpm_id}",
    path: "/rpms/{rpm}",
    sent: { file: rpmOf("counter", { payload: "built again" }) },
    answer: "rpm",
    foreign: "invalid_rpm_id",
    refused: [refused("/rpms/{rpm}", "missing_parameter", noFile), refused("/rpms/{rpm}", "invalid_file", noPackage)],
  },
  {
    call: "DELETE /rpms/{rpm_id}",
    path: "/rpms/{rpm}",
    answer: "success",
    foreign: "invalid_rpm_id",
    fresh: oneMore,
  },
  { call: "GET /rpms/{rpm_id}/data", path: "/rpms/{rpm}/data", answer: "application/x-rpm", foreign: "invalid_rpm_id" },
  {
    call: "GET /repositories",
    path: "/repositories?base_system=tiny-1.0&filter=tiny",
    answer: "repositories",
    refused: [
      refused("/repositories?base_system=cake", "invalid_base_system"),
      refused("/repositories?filter=a%00", "invalid_value"),
    ],
  },
  {
    call: "POST /repositories",
    path: `/repositories?url=${mirrorUrl}-too&name=Perl`,
    answer: "repository",
    refused: [
      refused("/repositories?name=Perl", "missing_url"),
      refused(`/repositories?url=${mirrorUrl}`, "missing_name"),
      refused("/repositories?url=file:///etc&name=Files", "invalid_value"),
      refused("/repositories?url=http://mirror.example.org/nothing&name=Nothing", "download_error"),
      refused(`/repositories?url=${mirrorUrl}&name=Again`, "repository_already_exists"),
    ],
    fresh: async ({ ids }) => ({ tux: await signedIn(), ids }),
  },
  {
    call: "GET /repositories/{repository_id}",
    path: "/repositories/{repository}",
    answer: "repository",
    foreign: "invalid_repository_id",
  },
  {
    call: "DELETE /repositories/{repository_id}",
    path: "/repositories/{repository}",
    answer: "success",
    foreign: "invalid_repository_id",
    refused: [refused("/repositories/{tinyMain}", "access_denied", { status: 403 })],
    fresh: async () => {
      const tux = await signedIn();
      return { tux, ids: { repository: await madeId(tux, "POST", `/repositories?url=${mirrorUrl}&name=Perl`) } };
    },
  },
];
