export function Logo({ size = 28 }: { size?: number }) {
  const stroke = {
    fill: 'none',
    stroke: '#fff',
    strokeWidth: 2.1,
    strokeLinecap: 'round',
    strokeLinejoin: 'round',
  } as const;
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <rect className="logo-ground" width="24" height="24" rx="6.5" />
      <path d="M5.2 12.6l3.3 3.4 6.3-7.6" {...stroke} />
      <path d="M12.2 15.3l1 .9 6.1-7.4" {...stroke} strokeOpacity=".62" />
    </svg>
  );
}
