import type { SoftwareEffect } from "#domain/software/effect";
import type { ResolvedPackage } from "#lib/solver/resolution";
import { counted, number, size } from "../../../parts/words.ts";

/** The changes that adding a package would make, or that a selected one has made. */
export const EffectView = ({ effect, isSelected }: { effect: SoftwareEffect; isSelected: boolean }) => {
  const { before, after, added, removed, problems } = effect;
  if (!before || !after)
    return (
      <>
        {problems.map((one) => (
          <p class="breaks">{one.words}</p>
        ))}
      </>
    );
  return (
    <>
      <dl class="before-after">
        <Change words="Packages" values={[before.packages, after.packages]} shown={number} />
        <Change words="Software" values={[before.installedBytes, after.installedBytes]} shown={size} />
        <Change words="Package files" values={[before.downloadBytes, after.downloadBytes]} shown={size} />
      </dl>
      <Packages of={added} words={isSelected ? "came with it" : "would be added"} />
      <Packages of={removed} words={isSelected ? "would be there without it" : "would be removed"} />
    </>
  );
};

interface ChangeProps {
  words: string;
  values: readonly [before: number, after: number];
  shown: (value: number) => string;
}

const Change = ({ words, values: [before, after], shown }: ChangeProps) => {
  const most = Math.max(before, after, 1);
  const [kept, moved] = [Math.min(before, after), Math.abs(after - before)].map((part) => (100 * part) / most);
  return (
    <>
      <dt>{words}</dt>
      <dd>
        <s>{shown(before)}</s> → <b>{shown(after)}</b>
      </dd>
      <dd>
        <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <rect class="half" width={(kept ?? 0).toFixed(1)} height="1" />
          <rect
            class={after > before ? "more" : "less"}
            x={(kept ?? 0).toFixed(1)}
            width={(moved ?? 0).toFixed(1)}
            height="1"
          />
        </svg>
      </dd>
    </>
  );
};

const maxNamed = 60;

const Packages = ({ of: packages, words }: { of: readonly ResolvedPackage[]; words: string }) => {
  if (packages.length === 0) return null;
  const largest = packages.toSorted((left, right) => right.installSizeBytes - left.installSizeBytes);
  const named = largest.slice(0, maxNamed).map((one) => `${one.name} ${size(one.installSizeBytes)}`);
  const rest = packages.length - named.length;
  return (
    <details>
      <summary>
        {counted(packages.length, "package")} {words}
      </summary>
      <p class="quiet breaks">
        {named.join(", ")}
        {rest > 0 && `, and ${rest} smaller ones`}
      </p>
    </details>
  );
};
