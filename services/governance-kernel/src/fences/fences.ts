import { columnsOf, selectByKey, text } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';

/** A freeze, quarantine or throttle of `system`, `tenant:<id>` or `agent:<tenant>:<principal>`. */
type Fence = { readonly scope: string; readonly kind: string };

export const fences: Control<string, Fence> = {
  name: 'fences',
  guard: 'epoch',
  ...selectByKey('fences', ['scope']),
  rowOf: columnsOf<Fence>({ scope: text('scope'), kind: text('kind') }).rowOf,
  keyValues: (scope) => [scope],
  keyText: (scope) => scope,
  idOf: ({ scope }) => scope,
  setsOf: ({ scope }) => [scope],
};
