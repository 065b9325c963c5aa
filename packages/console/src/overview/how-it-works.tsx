import { IconActivity, IconGavel, IconRobot } from '@tabler/icons-react';

const lines = [
  { Symbol: IconRobot, text: 'Your agent calls a tool through Countersign.' },
  { Symbol: IconGavel, text: 'Your rules allow it, deny it, or ask a person.' },
  { Symbol: IconActivity, text: 'Every decision leaves a signed receipt that anyone can check.' },
];

export function HowItWorks() {
  return (
    <section className="chart-card" aria-label="How it works">
      <h2>How it works</h2>
      <ul className="welcome-lines">
        {lines.map(({ Symbol, text }) => (
          <li key={text}>
            <span className="symbol">
              <Symbol size={16} aria-hidden="true" />
            </span>
            <span className="grow">{text}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
