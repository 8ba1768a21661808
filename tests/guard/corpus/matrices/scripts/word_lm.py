print("speed: 1")
