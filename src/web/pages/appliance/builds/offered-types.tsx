import { imageTypes, type ImageType } from "#lib/contract/index";
import type { Look } from "#domain/appliances/look";
import { listed } from "#domain/software/problem-words";
import { reasonAgainst } from "#model/catalogue";

/** The formats that a base system can be built in. */
export const offeredTypes = (base: Look["base"]): ImageType[] =>
  imageTypes.filter((type) => base === undefined || reasonAgainst(base, type) === undefined);

/** Why the other formats are not offered, grouped by reason. */
export const NotOffered = ({ base }: { base: Look["base"] }) => {
  if (base === undefined) return null;
  const missing = imageTypes.filter((type) => reasonAgainst(base, type) !== undefined);
  const byReason = [...Map.groupBy(missing, (type) => reasonAgainst(base, type))];
  return (
    <>
      {byReason.map(([reason, types]) => (
        <p class="hint">
          Not {listed(types)}: {reason}
        </p>
      ))}
    </>
  );
};
