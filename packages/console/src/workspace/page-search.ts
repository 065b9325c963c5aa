import { useNavigate, useSearch } from '@tanstack/react-router';
import type { z } from 'zod';

/**
 * The search parameters of the address, parsed by the schema of a page, and a function that changes them. People can
 * keep and share the address of a view. Each member of the schema needs `.catch`, because addresses are
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
