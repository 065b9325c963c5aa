/** Folders and files whose words are swept. Each is checked by `make lint`, and none leaves the list. */
export const finished = ['tests/lint'];

/** Subjects of commits from this day on are checked. */
export const subjectsSince = '2026-11-29';
