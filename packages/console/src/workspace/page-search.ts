import { useNavigate, useSearch } from '@tanstack/react-router';
import type { z } from 'zod';

/**
 * What the address says after `?`, by the schema of a page, and how to change it: a view of a page is an address that can be kept and
 * handed on. Each member of the schema needs `.catch`, since anybody may write an address.
 */
export function usePageSearch<Search extends object>(
  schema: z.ZodType<Search>,
): [Search, (changed: Partial<Search>) => void] {
  const raw: object = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = (changed: Partial<Search>) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...changed }) });
  return [schema.parse(raw), change];
}
