import { useRef } from 'react';
import { ReasonCode, Verdict } from '@countersign/contracts';
import { ReceiptKind } from '@countersign/contracts/governance-kernel';
import { useShortcuts } from '../keys/shortcuts.ts';
import { Facet } from '../parts/facet.tsx';
import { TextFacet } from '../parts/text-facet.tsx';
import { verdictWords } from '../parts/mark.tsx';
import { reasonSays } from '../parts/reason-says.ts';
import type { ActivitySearch } from './activity-search.ts';

type Props = { search: ActivitySearch; onChange: (changed: Partial<ActivitySearch>) => void };

/** The filters of receipts; the address holds all of them. */
export function Facets({ search, onChange }: Props) {
  const tool = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', says: 'Find the calls of a tool', run: () => tool.current?.focus() }]);
  return (
    <section className="facets" aria-label="Find">
      <Facet
        label="Decision"
        value={search.verdict}
        options={Verdict.options}
        inWords={(verdict) => verdictWords[verdict]}
        onChange={(verdict) => onChange({ verdict })}
      />
      <Facet label="Kind" value={search.kind} options={ReceiptKind.options} onChange={(kind) => onChange({ kind })} />
      <Facet
        label="Reason"
        value={search.reason}
        options={ReasonCode.options}
        inWords={reasonSays}
        onChange={(reason) => onChange({ reason })}
      />
      <TextFacet label="Tool" field={tool} value={search.tool} onChange={(next) => onChange({ tool: next })} />
      <TextFacet label="Agent" value={search.agent} onChange={(agent) => onChange({ agent })} />
      <TextFacet
        label="From"
        type="datetime-local"
        value={localOf(search.from)}
        onChange={(from) => onChange({ from: instantOf(from) })}
      />
      <TextFacet
        label="Before"
        type="datetime-local"
        value={localOf(search.to)}
        onChange={(to) => onChange({ to: instantOf(to) })}
      />
    </section>
  );
}

/** The value of a browser's field: a time without its zone. */
function localOf(instant: string | undefined): string | undefined {
  if (instant === undefined) return undefined;
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function instantOf(local: string | undefined): string | undefined {
  const at = new Date(local ?? '');
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
