// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Plays the pictures that report/step_through draws: buttons below each. A frame is a turn of a step; frame -1
// is the still that the page came with. Who wants less motion gets no play button.
(() => {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = (part, on) => on ? part.removeAttribute("display") : part.setAttribute("display", "none");
  for (const svg of document.querySelectorAll("svg:has(> .mb-step)")) {
    const steps = [...svg.querySelectorAll(".mb-step")];
    const turns = steps.map((step) => [...step.querySelectorAll(".mb-turn")]);
    const frames = turns.flatMap((list, step) => list.map((_, turn) => [step, turn]));
    const still = steps.findIndex((step) => step.getAttribute("display") !== "none");
    const loop = document.createElement("input");
    const told = document.createElement("span");
    let at = -1, timer = 0;

    const draw = (frame) => {
      at = frame;
      const [step, turn] = at < 0 ? [still, turns[still].length - 1] : frames[at];
      steps.forEach((part, i) => show(part, i === step));
      turns[step].forEach((part, i) => {
        show(part, i <= turn);
        part.classList.toggle("mb-past", at >= 0 && i < turn);
        show(part.querySelector(".mb-count"), i === turn);
      });
    };
    const say = () => {
      const [step, turn] = frames[Math.max(at, 0)];
      told.textContent = `step ${step + 1} of ${steps.length}, turn ${turn + 1} of ${turns[step].length}`;
    };
    const pause = () => { clearTimeout(timer); timer = 0; if (play) play.textContent = "Play"; };
    const run = () => {
      if (at + 1 === frames.length && !loop.checked) return pause();
      draw((at + 1) % frames.length);
      timer = setTimeout(run, turns[frames[at][0]].length > 4 ? 400 : 1200);
    };
    const button = (text, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = text;
      made.addEventListener("click", act);
      bar.append(made);
      return made;
    };
    const move = (by) => { pause(); draw((at + by + frames.length) % frames.length); say(); };

    const bar = document.createElement("div");
    bar.className = "steps";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Steps of the picture");
    button("Back", () => move(at < 0 ? 0 : -1));
    const play = calm ? null : button("Play", () => {
      if (timer) { pause(); say(); return; }
      play.textContent = "Pause";
      told.textContent = "";
      if (at + 1 === frames.length) at = -1;
      run();
    });
    button("Step", () => move(1));
    if (play) {
      const label = document.createElement("label");
      loop.type = "checkbox";
      label.append(loop, " loop");
      bar.append(label);
    }
    told.setAttribute("role", "status");
    bar.append(told);
    svg.after(bar);
    addEventListener("beforeprint", () => { pause(); draw(-1); });
  }
})();
