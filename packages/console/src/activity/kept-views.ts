import { useState } from 'react';
import { z } from 'zod';
import { ActivitySearch } from './activity-search.ts';

/** The number of views that fits above a list. */
const keptViewsMax = 12;
export const viewNameLengthMax = 40;

const KeptViews = z
  .array(z.strictObject({ title: z.string().min(1).max(viewNameLengthMax), search: ActivitySearch }))
  .max(keptViewsMax);
type KeptView = z.infer<typeof KeptViews>[number];

/** The saved views of a person in one workspace. They stay in this browser. */
export function useKeptViews(userId: string, workspaceId: string) {
  const key = `countersign-views-${userId}-${workspaceId}`;
  const [views, setViews] = useState(() => readViews(key));
  const write = (next: KeptView[]) => {
    localStorage.setItem(key, JSON.stringify(next));
    setViews(next);
  };
  return {
    views,
    /** Replaces a view of the same name. */
    keep: (view: KeptView) => write([...views.filter(({ title }) => title !== view.title), view].slice(-keptViewsMax)),
    remove: (name: string) => write(views.filter(({ title }) => title !== name)),
  };
}

/** The storage can contain anything, so its content is parsed like every other input. */
function readViews(key: string): KeptView[] {
  try {
    return KeptViews.parse(JSON.parse(localStorage.getItem(key) ?? '[]'));
  } catch {
    return [];
  }
}
