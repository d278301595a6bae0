import type { Issue } from "#domain/appliances/issue";
import type { Look } from "#domain/appliances/look";
import { ActionButton, ButtonLink } from "../../parts/button.tsx";
import { FaultsOf } from "../../parts/form.tsx";
import { Notice } from "../../parts/notice.tsx";
import { newBuildForm } from "./builds/new-build.tsx";
import type { Tab } from "./tabs.tsx";
import { applianceAt } from "./with-appliance.ts";

/** The problems of an appliance, with a button for each solution. */
export const Problems = ({ look: { appliance, issues }, tab }: { look: Look; tab: Tab }) => (
  <div class="wrap problems" id="problems">
    <FaultsOf action={applianceAt(appliance.id, "builds")} shown={[newBuildForm]} />
    {issuesOf(issues, tab).map((issue) => (
      <Notice tone={issue.type === "error" ? "bad" : "warn"} solutions={solutionOf(appliance.id, issue)}>
        <span class="hidden">{issue.type === "error" ? "Error: " : "Warning: "}</span>
        <WithLink text={issue.ofSoftware ?? issue.text} />
      </Notice>
    ))}
  </div>
);

/** The software page itself explains why the software does not resolve. */
const issuesOf = (issues: readonly Issue[], tab: Tab): Issue[] =>
  issues.filter(({ ofSoftware }) => tab !== "software" || ofSoftware === undefined).toSorted(errorsFirst);

const errorsFirst = (left: Issue, right: Issue): number =>
  Number(right.type === "error") - Number(left.type === "error");

function solutionOf(applianceId: number, { solution, setting, repository, page, ofSoftware }: Issue) {
  if (repository !== undefined) {
    const fields = { do: "use", repository };
    return (
      <ActionButton action={applianceAt(applianceId, "software/repositories")} fields={fields} look="small">
        Add the repository
      </ActionButton>
    );
  }
  const isUnsolved = ofSoftware !== undefined && solution === undefined;
  const [to, words] = isUnsolved ? ["software", "See the solutions"] : [page, "Set it there"];
  if (to !== undefined) {
    return (
      <ButtonLink look="small" href={applianceAt(applianceId, to)}>
        {words}
      </ButtonLink>
    );
  }
  if (setting) {
    const { words, ...fields } = setting;
    return (
      <ActionButton action={applianceAt(applianceId, "configuration/solve")} fields={fields} look="small">
        {words}
      </ActionButton>
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

/** A message may end with the URL of one of the service's own pages. */
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
