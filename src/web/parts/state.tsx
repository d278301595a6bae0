import type { Child } from "hono/jsx";
import type { IconName } from "./icon-names.ts";
import { ToneIcon, type Tone } from "./notice.tsx";

/** A state: an icon and words, in a matching colour. */
export const State = ({
  tone,
  icon,
  isChip,
  children,
}: {
  tone?: Tone | undefined;
  icon?: IconName | undefined;
  isChip?: true;
  children: Child;
}) => (
  <span class={isChip ? "state chip" : "state"} data-tone={tone}>
    <ToneIcon tone={tone} icon={icon} /> {children}
  </span>
);

export const Badge = ({ tone, children }: { tone?: Tone; children: Child }) => (
  <span class="badge" data-tone={tone}>
    {children}
  </span>
);

/** A format of images: `oem`. */
export const TypeBadge = ({ type }: { type: string }) => <span class="badge type">{type}</span>;

/** Progress in percent. `label` names it for screen readers. */
export const Progress = ({ percent, label, isThin }: { percent: number; label: string; isThin?: true }) => (
  <progress class={isThin && "thin"} value={percent} max={100} aria-label={label}>
    {percent} %
  </progress>
);

/** A percentage as an SVG, because style attributes are forbidden. Its value is shown as text next to it. */
export const Bar = ({ percent }: { percent: number }) => (
  <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
    <rect width={Math.min(100, Math.max(0, percent)).toFixed(1)} height="1" />
  </svg>
);
