import type { StatedAdvisory } from "#domain/advisories/of-build";
import { affectedStates } from "#model/advisory";
import type { Build } from "#storage/builds";
import { AdvisorySummary, advisoryWords as words } from "../../../parts/advisory-summary.tsx";
import { Moment } from "../../../parts/moment.tsx";
import { Badge } from "../../../parts/state.tsx";
import { Table } from "../../../parts/table.tsx";
import { counted, number } from "../../../parts/words.ts";
import { applianceAt } from "../with-appliance.ts";
import { Statement, StatementForm, useVexRefused, WithdrawFaults } from "./vex-statement.tsx";
import { nameOf } from "./names.ts";
import type { Builds } from "./shown-builds.ts";

/** How many advisories the page lists. A kernel alone can have a thousand. */
const maxShown = 200;

const columns = ["Advisory", "Source package", "Installed", "Fixed in"];

/** The security advisories of an image. Omitted if no feed covers its base system. */
export const Advisories = ({ build, seen }: { build: Build; seen: Builds }) => {
  const { applianceId, advisories: found, updates } = seen;
  const isRefused = useVexRefused(applianceId, build);
  if (found?.build.id !== build.id || !found.isKnown) return null;
  const { advisories, counts, feeds } = found;
  const known = affectedStates.filter((state) => counts[state] > 0);
  return (
    <section class="use stack-s" aria-label={`Advisories of ${nameOf(build)}`}>
      <div class="row">
        <h3 class="as-label">Advisories</h3>
        <AdvisorySummary counts={counts} />{" "}
        {feeds.map(
          ({ feed, readAt }) =>
            readAt && (
              <span class="sub">
                {feedNames[feed]}, read <Moment at={readAt} />
              </span>
            ),
        )}
      </div>
      {counts.fixed > 0 && updates?.build.id === build.id && updates.updates.length === 0 && (
        <p class="hint">
          The appliance's repositories do not have the fixed versions.{" "}
          <a href={applianceAt(applianceId, "software")}>Add the security repository</a> of its distribution.
        </p>
      )}
      {known.length > 0 && (
        <details class="use" open={isRefused}>
          <summary>{known.map((state) => `${number(counts[state])} ${words[state]}`).join(", ")}</summary>
          <WithdrawFaults applianceId={applianceId} build={build} />
          <Table label={`Advisories of ${nameOf(build)}`} isCards columns={columns}>
            {advisories.slice(0, maxShown).map((one) => (
              <Row one={one} build={build} applianceId={applianceId} />
            ))}
          </Table>
          {advisories.length > maxShown && (
            <p class="hint">
              {counted(advisories.length - maxShown, "more is", "more are")} in the answer of the API, and in that of
              kiln advisories.
            </p>
          )}
          <StatementForm applianceId={applianceId} build={build} advisories={advisories.slice(0, maxShown)} />
        </details>
      )}
    </section>
  );
};

const feedNames = {
  debian: "Debian's security tracker",
  dsa: "Debian's announcements",
  osv: "OSV",
  exploited: "CISA's catalogue",
} as const;

interface RowProps {
  one: StatedAdvisory;
  build: Build;
  applianceId: number;
}

const Row = ({
  one: { id, aliases, state, source, installed, fixed, isExploited, statement },
  build,
  applianceId,
}: RowProps) => (
  <>
    <tr>
      <th scope="row" class="breaks">
        {id.startsWith("CVE-") ? <a href={`https://www.cve.org/CVERecord?id=${id}`}>{id}</a> : id}{" "}
        {aliases.length > 0 && <span class="quiet">{aliases.join(", ")}</span>}{" "}
        {state !== "fixed" && <Badge>{words[state]}</Badge>} {isExploited && <Badge tone="bad">exploited</Badge>}
      </th>
      <td data-label="Source package" class="breaks">
        {source}
      </td>
      <td data-label="Installed" class="breaks">
        {installed}
      </td>
      <td data-label="Fixed in" class="breaks">
        {fixed ?? "no version yet"}
      </td>
    </tr>
    {statement && (
      <tr>
        <td colSpan={4} class="breaks">
          <Statement applianceId={applianceId} build={build} statement={statement} />
        </td>
      </tr>
    )}
  </>
);
