import { ButtonLink } from "./button.tsx";

interface PagerProps {
  /** Counted from 1. */
  page: number;
  pages: number;
  /** The address of a page. */
  at: (page: number) => string;
}

/** Links to the pages of a list. */
export const Pager = ({ page, pages, at }: PagerProps) =>
  pages <= 1 ? null : (
    <nav class="pages row center" aria-label="Pages">
      {page > 1 && (
        <ButtonLink href={at(page - 1)} icon="chevron-left">
          Before
        </ButtonLink>
      )}
      <span class="num">
        Page {page} of {pages}
      </span>
      {page < pages && (
        <ButtonLink href={at(page + 1)} icon="chevron-right">
          Next
        </ButtonLink>
      )}
    </nav>
  );

/** The page number in an address. A missing or invalid number means the first page. */
export const pageIn = (given: string | undefined): number => (/^[1-9]\d{0,5}$/.test(given ?? "") ? Number(given) : 1);
