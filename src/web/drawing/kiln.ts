import { flame } from "../parts/icon.tsx";
import { pot } from "./vessel.ts";

/** The kiln of the front page, with three pots in the fire. Parts with a class follow the colours of the page. */
export const kiln = `<svg class="kiln" viewBox="0 0 400 250" aria-hidden="true">
<radialGradient id="glow" cx=".5" cy="1" r=".95"><stop offset="0" stop-color="#fff0c9"/><stop offset=".22" stop-color="#ffb45e"/><stop offset=".55" stop-color="#c2500f"/><stop offset="1" stop-color="#3a1407"/></radialGradient>
<path class="wall" d="M22 252V150C22 62 100 8 200 8s178 54 178 142v102z"/>
<path class="joint" d="M22 190h40M22 220h34M338 190h40M344 220h34M24 160h44M332 160h44M40 100l34 18M360 100l-34 18M72 62l26 28M328 62l-26 28M116 32l16 34M284 32l-16 34M166 14l8 38M234 14l-8 38"/>
<path d="M62 252V158c0-66 62-104 138-104s138 38 138 104v94z" fill="url(#glow)"/>
<path class="shelf" d="M62 214h276v9H62z"/>
<path d="M62 223h276v29H62z" fill="#2a0f05" opacity=".8"/>
${flames()}
<g transform="translate(78 132) scale(0.86)">${pot(17, "k1")}</g>
<g transform="translate(150 96) scale(1.23)">${pot(1, "k2")}</g>
<g transform="translate(242 132) scale(0.86)">${pot(13, "k3")}</g>
</svg>`;

function flames(): string {
  const places = [76, 112, 148, 184, 220, 256, 292];
  return places
    .map((x, at) => {
      const [y, colour] = at % 2 === 0 ? [219, "#ff9d4d"] : [216, "#ffd08a"];
      return `<path transform="translate(${x} ${y}) scale(1.15)" d="${flame}" fill="${colour}"/>`;
    })
    .join("");
}
