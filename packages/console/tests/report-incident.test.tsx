import { at, stage, workspaceId } from './_dom.tsx';
import { expect, it } from '@jest/globals';
import { screen } from '@testing-library/react';
import { createIncident } from '@countersign/contracts/control-plane';
import { ReportIncident } from '../src/incidents/report-incident.tsx';

const reported = {
  ...{ incident_id: 'inc_01ARZ3NDEKTSV4RRFFQ69G5FAV', workspace_id: workspaceId, title: 'A leak', severity: 'medium' },
  ...{ category: 'conduct', dedup_key: 'leak', state: 'open', recurrence: 1, owner: null, opened_by: 'ada' },
  ...{ opened_at: at, last_seen_at: at, updated_at: at, timeline: [], receipts: [], commands: [], plans: [] },
  standing: [],
};

it('a report is sent with the same key until an answer arrives, and with a new key afterwards', async () => {
  const { peer, user, show } = stage();
  show(<ReportIncident isOpen onClose={() => undefined} />);
  await user.type(await screen.findByLabelText('Title'), 'A leak');
  await user.type(screen.getByLabelText('What is known'), 'It leaks');
  const keys = () => peer.requests(createIncident).map(({ headers }) => headers.get('idempotency-key'));
  const send = async (times: number) => {
    await user.click(screen.getByRole('button', { name: 'Report incident' }));
    expect(keys()).toHaveLength(times);
  };
  peer.isAwayFor(createIncident);
  await send(1);
  peer.refuses(createIncident, 'IDEMPOTENCY_IN_FLIGHT');
  await send(2);
  peer.refuses(createIncident, 'APPROVAL_NEEDED');
  await send(3);
  peer.answers(createIncident, reported);
  await send(4);
  const [first, second, third, fourth] = keys();
  expect([first, second, third]).toEqual(Array.from({ length: 3 }, () => expect.any(String)));
  expect(new Set([first, second, third]).size).toBe(1);
  expect(fourth).not.toBe(third);
});
