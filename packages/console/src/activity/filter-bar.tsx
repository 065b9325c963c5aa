import { useRef, type Ref } from 'react';
import { ReasonCode, Verdict, visibleText } from '@countersign/contracts';
import { ReceiptKind } from '@countersign/contracts/governance-kernel';
import { useShortcuts } from '../keys/shortcuts.ts';
import { verdictWords } from '../parts/mark.tsx';
import { momentInWords } from '../parts/moment.tsx';
import { reasonSays } from '../parts/reason-says.ts';
import type { ActivitySearch } from './activity-search.ts';
import { FilterChip } from './filter-chip.tsx';
import { FieldsPanel, ValuesPanel } from './filter-panels.tsx';
import { kindWords } from './kind-words.ts';

type Props = { search: ActivitySearch; onChange: (changed: Partial<ActivitySearch>) => void };

/** The filters of receipts, one chip for each. The address contains all of them. */
export function FilterBar({ search, onChange }: Props) {
  const tool = useRef<HTMLButtonElement>(null);
  useShortcuts([{ keys: '/', says: 'Find the calls of a tool', run: () => tool.current?.click() }]);
  const { verdict, tool: named, agent, reason, kind } = search;
  return (
    <ul className="filter-bar" aria-label="Filters">
      <PeriodChip search={search} onChange={onChange} />
      <ValuesChip
        label="Decision"
        value={verdict}
        options={Verdict.options}
        inWords={(each) => verdictWords[each]}
        onChange={(next) => onChange({ verdict: next })}
      />
      <TextChip label="Agent" value={agent} onChange={(next) => onChange({ agent: next })} />
      <TextChip label="Tool" value={named} opener={tool} onChange={(next) => onChange({ tool: next })} />
      <ValuesChip
        label="Reason"
        value={reason}
        options={ReasonCode.options}
        inWords={reasonSays}
        onChange={(next) => onChange({ reason: next })}
      />
      <ValuesChip
        label="Kind"
        value={kind}
        options={ReceiptKind.options}
        inWords={(each) => kindWords[each]}
        onChange={(next) => onChange({ kind: next })}
      />
    </ul>
  );
}

type ValuesChipProps<Value extends string> = {
  label: string;
  value: Value | undefined;
  options: readonly Value[];
  inWords: (value: Value) => string;
  onChange: (value: Value | undefined) => void;
};

function ValuesChip<Value extends string>({ onChange, ...values }: ValuesChipProps<Value>) {
  const { label, value, inWords } = values;
  return (
    <FilterChip label={label} shown={value && inWords(value)} onRemove={() => onChange(undefined)}>
      {(close) => <ValuesPanel {...values} onChoose={applied(onChange, close)} />}
    </FilterChip>
  );
}

type TextChipProps = {
  label: string;
  value: string | undefined;
  opener?: Ref<HTMLButtonElement>;
  onChange: (value: string | undefined) => void;
};

function TextChip({ label, value, opener, onChange }: TextChipProps) {
  const open = opener === undefined ? {} : { opener };
  return (
    <FilterChip label={label} shown={value && visibleText(value)} onRemove={() => onChange(undefined)} {...open}>
      {(close) => (
        <FieldsPanel fields={[{ label, type: 'text', value }]} onApply={([next]) => applied(onChange, close)(next)} />
      )}
    </FilterChip>
  );
}

function PeriodChip({ search: { from, to }, onChange }: Props) {
  return (
    <FilterChip
      label="Time"
      shown={periodInWords(from, to)}
      onRemove={() => onChange({ from: undefined, to: undefined })}
    >
      {(close) => (
        <FieldsPanel
          fields={[
            { label: 'From', type: 'datetime-local', value: localOf(from) },
            { label: 'Before', type: 'datetime-local', value: localOf(to) },
          ]}
          onApply={([first, end]) => applied(onChange, close)({ from: instantOf(first), to: instantOf(end) })}
        />
      )}
    </FilterChip>
  );
}

/** Changes the filter, and then closes its panel. */
function applied<Value>(change: (value: Value) => void, close: () => void): (value: Value) => void {
  return (value) => {
    change(value);
    close();
  };
}

function periodInWords(from: string | undefined, to: string | undefined): string | undefined {
  const inWords = (at: string) => momentInWords(new Date(at), new Date());
  if (from !== undefined && to !== undefined) return `${inWords(from)} to ${inWords(to)}`;
  if (from !== undefined) return `from ${inWords(from)}`;
  return to === undefined ? undefined : `before ${inWords(to)}`;
}

/** The value of a `datetime-local` field: local time without a time zone. */
function localOf(instant: string | undefined): string | undefined {
  if (instant === undefined) return undefined;
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function instantOf(local: string | undefined): string | undefined {
  const at = new Date(local ?? '');
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
