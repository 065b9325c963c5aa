import { useSnapshot } from '../live/snapshot.ts';
import { countInWords, waitingCounts } from '../live/waiting-counts.ts';
import { Tabs } from '../parts/tabs.tsx';
import type { InboxTab } from './inbox-search.ts';

const titles: Readonly<Record<InboxTab, string>> = {
  mine: 'Waiting for you',
  others: 'Waiting for others',
  decided: 'Decided',
};

/** The three parts of the inbox. A tab closes the open call. */
export function InboxTabs({ shown }: { shown: InboxTab }) {
  const { data, error } = useSnapshot();
  const counts = (error === null && data !== undefined && waitingCounts(data)) || null;
  const tab = (name: InboxTab, count?: string) => ({
    ...{ to: '/inbox', title: titles[name], search: { tab: name, state: undefined }, isShown: name === shown, count },
  });
  return (
    <Tabs
      label="Parts of the inbox"
      tabs={[
        tab('mine', counts === null ? undefined : countInWords(counts.mine)),
        tab('others', counts === null ? undefined : countInWords(counts.others)),
        tab('decided'),
      ]}
    />
  );
}
