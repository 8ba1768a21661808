"use strict";
// Frameworks have a colour, a shape and a dash each, so that no reader needs the colour alone.
(() => {
  const kinds = 8;
  const dashes = ["", "7 3", "2 3", "9 3 2 3", "", "7 3", "2 3", "9 3 2 3"];
  bench.series = (place) => `series-${place % kinds + 1}`;
  bench.dash = (place) => dashes[place % kinds] || null;
  bench.shape = (place) => [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolStar, d3.symbolCross, d3.symbolWye, d3.symbolCircle][place % kinds];

  // Steps of a ratio that is better (blue) or worse (orange); the last is for all beyond, and is marked.
  const steps = [1.02, 1.1, 1.3, 2];
  bench.steps = steps;
  bench.shade = (ratio, higherIsBetter) => {
    if (!(ratio > 0)) return { name: "none", beyond: false };
    const gain = higherIsBetter ? ratio : 1 / ratio;
    const size = Math.max(gain, 1 / gain);
    const step = steps.filter((each) => size >= each).length;
    return { name: step ? `${gain > 1 ? "better" : "worse"}-${step}` : "even", beyond: size > 4 };
  };
})();
