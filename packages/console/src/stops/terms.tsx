type Props = { of: { limit: number | null; window_seconds: number | null } };

/** The number of calls that a throttle lets through. */
export function Terms({ of: { limit, window_seconds: seconds } }: Props) {
  if (limit === null || seconds === null) return null;
  return (
    <span className="quiet">
      {' '}
      to {limit === 1 ? '1 call' : `${limit} calls`} {seconds === 60 ? 'a minute' : `in ${seconds} s`}
    </span>
  );
}
