import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { IncidentCategory, IncidentSeverity } from '@countersign/contracts/control-plane';
import { asOptions, Choice } from '../parts/choice.tsx';
import { LongText } from '../parts/long-text.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { useWorkspace } from '../workspace/open-workspace.ts';
import { useIncidents } from './use-incidents.ts';

type Props = { isOpen: boolean; onClose: () => void };

export function ReportIncident({ isOpen, onClose }: Props) {
  return (
    <Modal opened={isOpen} onClose={onClose} title="Report an incident">
      <Form />
    </Modal>
  );
}

const categories = IncidentCategory.options.map((id) => ({ id, name: id.replaceAll('_', ' ') }));
const untold = { title: '', note: '', severity: 'medium', category: 'conduct' } as const;
type Report = { title: string; note: string; severity: IncidentSeverity; category: IncidentCategory };

function Form() {
  const { id } = useWorkspace();
  const incidents = useIncidents();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [output, setTold] = useState<Report>(untold);
  const change = (changed: Partial<Report>) => setTold((before) => ({ ...before, ...changed }));
  const report = useMutation({
    mutationFn: async () => (await incidents.createIncident({ body: { ...output, receipts: [] } })).body,
    onSuccess: ({ incident_id }) => {
      void queries.invalidateQueries({ queryKey: [id, 'incidents'] });
      void navigate({ to: `/incidents/${incident_id}` });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    report.mutate();
  };
  return (
    <form className="stacked" onSubmit={submit}>
      <TextInput
        data-autofocus
        label="Title"
        required
        withAsterisk={false}
        maxLength={200}
        value={output.title}
        onChange={({ target }) => change({ title: target.value })}
      />
      <LongText
        act="Report incident"
        label="What is known"
        required
        withAsterisk={false}
        maxLength={2_000}
        rows={3}
        value={output.note}
        onChange={({ target }) => change({ note: target.value })}
      />
      <Choice
        label="Severity"
        value={output.severity}
        options={asOptions(IncidentSeverity.options)}
        onChange={(severity) => change({ severity })}
      />
      <Choice
        label="Category"
        value={output.category}
        options={categories}
        onChange={(category) => change({ category })}
      />
      {report.error !== null && <ProblemNote error={report.error} />}
      <Button type="submit" loading={report.isPending}>
        Report incident
      </Button>
    </form>
  );
}
