import type { Issue } from "#domain/appliances/issue";
import type { Look } from "#domain/appliances/look";
import { ActionButton, ButtonLink } from "../../parts/button.tsx";
import { FaultsOf } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";
import { newBuildForm } from "./build/new-build.tsx";
import { applianceAt } from "./with-appliance.ts";

/** The problems of an appliance, with a button for each solution. */
export const Problems = ({ look: { appliance, issues } }: { look: Look }) => (
  <div class="wrap problems" id="problems">
    <FaultsOf action={applianceAt(appliance.id, "builds")} shown={[newBuildForm]} />
    {issues.toSorted(errorsFirst).map((issue) => (
      <Notice tone={issue.type === "error" ? "bad" : "warn"} solutions={solutionOf(appliance.id, issue)}>
        <span class="hidden">{issue.type === "error" ? "Error: " : "Warning: "}</span>
        <WithLink text={issue.text} />
      </Notice>
    ))}
  </div>
);

const errorsFirst = (left: Issue, right: Issue): number =>
  Number(right.type === "error") - Number(left.type === "error");

function solutionOf(applianceId: number, { solution, page }: Issue) {
  if (page !== undefined) {
    return (
      <ButtonLink look="small" href={applianceAt(applianceId, page)}>
        Set it there
      </ButtonLink>
    );
  }
  if (!solution) return undefined;
  const { type, package: name } = solution;
  return (
    <ActionButton
      action={applianceAt(applianceId, "software")}
      fields={{ do: type === "install" ? "add" : "remove", kind: "package", name }}
      look="small"
    >
      {type === "install" ? "Add" : "Remove"} {name}
    </ActionButton>
  );
}

/** A message may end with the URL of a page of the service. */
const WithLink = ({ text }: { text: string }) => {
  const [, words, address] = /^(.*) (https?:\/\/[^\s]+\/agreements\/[^\s]+)$/s.exec(text) ?? [];
  return address === undefined ? (
    <>{text}</>
  ) : (
    <>
      {words} <a href={address}>{address}</a>
    </>
  );
};
