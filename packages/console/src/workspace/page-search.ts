import { useNavigate, useSearch } from '@tanstack/react-router';
import type { z } from 'zod';

/**
 * The search parameters of the address, by the schema of a page, and the way to change them. A view of a page is an address that can be kept and shared. Each member of the schema needs `.catch`, since addresses are
 * attacker-controlled.
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
