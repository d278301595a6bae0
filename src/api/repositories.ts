import { z } from "zod";
import { foundRepositories, repository } from "#documents/repository";
import { success } from "#documents/success";
import { removeRepository } from "#domain/repositories/deletion";
import { getRepository, importForAccount, listRepositories } from "#domain/repositories/repository";
import { v2 } from "#api/operation";
import { call, type CallGroup } from "#api/call";
import { flag, text } from "#http/params";

const ListRequest = z.object({ base_system: z.string().optional(), filter: text().optional() });
const maxKeyCharacters = 128 * 1024;
const ImportRequest = z.object({
  url: z.string({ error: "missing_url" }),
  name: text("missing_name"),
  key: z.string().max(maxKeyCharacters, "invalid_value").optional(),
  accept_expired: flag.optional(),
});

const ids = { repository_id: "invalid_repository_id" } as const;

export const repositories: CallGroup = {
  title: "Repositories",
  about:
    "Repositories of the service's distributions, which every account sees, and those that you imported, which only you see.",
  operations: [
    call("GET /repositories", {
      name: "listRepositories",
      access: "own",
      rate: "reads",
      isForAll: true,
      summary: "All repositories that you can see",
      params: ListRequest,
      answer: foundRepositories,
      refuses: ["invalid_base_system", "invalid_value"],
      act: ({ db, account, baseUrl }, { base_system: baseSystem, filter }) =>
        listRepositories(db, account.id, { baseSystem, filter, baseUrl }),
    }),
    call("POST /repositories", {
      name: "importRepository",
      access: "own",
      rate: "repositories",
      summary: "Import an rpm-md, yast2 or deb repository",
      params: ImportRequest,
      about: {
        url:
          "Base URL of the repository: http or https. For a Debian repository, the URL of a suite, with the components that you want: " +
          "`http://deb.example.org/debian/dists/bookworm#main,contrib`; or a line of `sources.list`.",
        name: "Name of the repository.",
        key:
          "For a Debian repository: the public keys, in ASCII armour. One of them must have signed its index (InRelease), at every import. " +
          "If you omit it, the keys of your appliances are used. If there are none, the index need not be signed.",
        accept_expired:
          "For a Debian repository: `true` to use it even if its index has expired (Valid-Until). Its known " +
          "security problems may have been fixed elsewhere since.",
      },
      answer: repository,
      refuses: ["missing_url", "missing_name", "invalid_value", "repository_already_exists", "download_error"],
      act: ({ env, db, account, requestId }, { accept_expired: acceptsExpired = false, ...request }) =>
        importForAccount({ env, db }, account.id, { ...request, acceptsExpired, requestId }),
    }),
    call("GET /repositories/{repository_id}", {
      name: "getRepository",
      access: "own",
      isForAll: true,
      summary: "A repository",
      ids,
      answer: repository,
      act: ({ db, account }, { repository_id }) => getRepository(db, account.id, repository_id),
    }),
    call("DELETE /repositories/{repository_id}", {
      name: "deleteRepository",
      access: "own",
      summary: "Delete a repository that you imported and that no appliance uses",
      details: "Builds that you started before still get their packages.",
      versions: v2,
      ids,
      answer: success,
      refuses: ["access_denied", "unknown_error"],
      act: ({ db, account }, { repository_id }) => removeRepository(db, account.id, repository_id),
    }),
  ],
};
