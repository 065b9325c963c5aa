import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { ComplianceFramework, compliancePeriodDaysMax } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { commercial } from '../commercial/client.ts';
import { useReadAgain } from '../commercial/use-commercial.ts';
import { Choice } from '../parts/choice.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { periodOf } from './period-of.ts';
import { frameworkWords } from './words.ts';

type Props = { orgId: OrgId; isOpen: boolean; onClose: () => void };

export function ReportForm({ isOpen, onClose, orgId }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Make a report">
      {isOpen && <Form orgId={orgId} onMade={onClose} />}
    </Modal>
  );
}

const dayMs = 86_400_000;
const usualDays = 30;
const dayBefore = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

function Form({ orgId, onMade }: { orgId: OrgId; onMade: () => void }) {
  const navigate = useNavigate();
  const readAgain = useReadAgain();
  const [framework, setFramework] = useState<ComplianceFramework>('soc2');
  // The default period ends yesterday, the last complete day.
  const [days, setDays] = useState({ first: dayBefore(usualDays), last: dayBefore(1) });
  const period = periodOf(days, Date.now());
  const make = useMutation({
    mutationFn: async () => {
      if (period.fault !== null) throw new RangeError(period.fault);
      const { from, to } = period;
      return (await commercial.createComplianceReport({ body: { org_id: orgId, framework, from, to } })).body;
    },
    onSuccess: ({ report_id: id }) => {
      onMade();
      void readAgain();
      void navigate({ to: '/compliance/$id', params: { id }, search: (before: object) => before });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <Choice
        label="Framework"
        value={framework}
        options={ComplianceFramework.options.map((id) => ({ id, name: frameworkWords[id] }))}
        onChange={setFramework}
      />
      <TextInput
        label="First day, in UTC"
        type="date"
        required
        withAsterisk={false}
        value={days.first}
        onChange={({ target }) => setDays((before) => ({ ...before, first: target.value }))}
      />
      <TextInput
        label="Last day, in UTC"
        description={`Today counts up to this minute. At most ${compliancePeriodDaysMax} days.`}
        type="date"
        required
        withAsterisk={false}
        error={period.fault}
        value={days.last}
        onChange={({ target }) => setDays((before) => ({ ...before, last: target.value }))}
      />
      <p className="quiet">The report states what receipts show. It certifies nothing.</p>
      {make.error !== null && <ProblemNote error={make.error} />}
      <Button type="submit" disabled={period.fault !== null} loading={make.isPending}>
        Make a report
      </Button>
    </form>
  );
}
